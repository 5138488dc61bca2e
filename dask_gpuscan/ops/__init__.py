"""One operation a module, over partitions of frames; nothing here knows a graph."""
