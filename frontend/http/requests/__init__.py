"""Request bodies: decoded, checked, and made into speech requests. Only http enters."""
