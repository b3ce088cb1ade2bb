"""The only client of our server: a blocking one for commands and screen readers, an asynchronous one for processes."""
