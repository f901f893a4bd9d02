"""Hosts environments and policies of Python for an engine in another process.

=================  ==================================================
``serve``          messages, connections, the life of the process
``environment``    one environment of Gymnasium
``policy``         one policy
``repeats``        whether a seed repeats its episode
``spaces``         spaces of Gymnasium as rows of numbers, and back
``modules``        modules of the user, and whether they changed
=================  ==================================================
"""
