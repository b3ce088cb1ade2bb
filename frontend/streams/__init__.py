"""One request's segments, from plan to joined samples, and the links to workers."""
