"""What the benchmarks share: data, clocks, child processes, peers, results."""
