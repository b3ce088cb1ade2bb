"""Quality of every form that may be spoken in place of the model's whole run in full precision; see `__main__`."""
