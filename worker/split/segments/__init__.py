"""One segment made window by window: its shapes, its noise, its statistics, its marks."""
