"""Programs that are rewritten on the host: what a device never reads goes, memory is planned again, weights are packed."""
