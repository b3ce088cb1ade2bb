"""Response bodies: framed, encoded, sent, and ended truthfully. Only http enters."""
