import { useCallback, useEffect, useState } from "react";
import { reported } from "./failures";

/** What a request answers with: undefined until then, and after a failure, which is told in a toast. */
export function useLoaded<T>(load: () => Promise<T>): { data: T | undefined; isLoading: boolean; reload: () => void } {
  const [data, setData] = useState<T>();
  const [isLoading, setLoading] = useState(true);
  const reload = useCallback(() => {
    setLoading(true);
    void reported(load).then((loaded) => {
      if (loaded !== undefined) setData(() => loaded);
      setLoading(false);
    });
  }, [load]);
  useEffect(reload, [reload]);
  return { data, isLoading, reload };
}
