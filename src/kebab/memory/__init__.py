"""What did agents do before? Recording and recalling executions."""
