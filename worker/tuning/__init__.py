"""Measurements of one engine, in a process of its own. Only `supervisor.tuning` and benchmarks may import this
package."""
