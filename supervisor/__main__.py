"""`kokoro-live` and `python -m supervisor`. Every spawned child imports this file again, so it imports nothing."""

from __future__ import annotations


def main() -> None:
    from supervisor.cli import kokoro_live

    kokoro_live(prog_name="kokoro-live")


if __name__ == "__main__":
    main()
