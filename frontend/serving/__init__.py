"""The parts that all ports share: connections, access, bodies, errors, and the ends of answers."""
