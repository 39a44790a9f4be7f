"""What agents did, so that the next run can learn from it: record, recall, learning curves, causes."""
