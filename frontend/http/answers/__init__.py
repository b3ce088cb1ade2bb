"""Response bodies: framed, encoded, sent, and ended so that an incomplete one never looks whole."""
