"""Planning: cuts a text into segments according to the engine's measured costs."""
