"""The checks of `kokoro-live doctor`. Only that command imports them."""
