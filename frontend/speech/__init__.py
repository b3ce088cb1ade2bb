"""The only way from a request to the bytes of its answer: what is asked, by whom it is spoken, how it is sent."""
