"""What every room stands on: where files lie, digests, how a problem is told, bytes on the wire."""
