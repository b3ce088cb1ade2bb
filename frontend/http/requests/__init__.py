"""Request bodies: decoded, checked, and turned into speech requests. Only http imports it."""
