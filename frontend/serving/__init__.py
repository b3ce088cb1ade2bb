"""What every port shares: connections, access, bodies, errors, and the ends of answers."""
