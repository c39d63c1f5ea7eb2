"""Child processes: how they start, what they exchange with their parent, and how they end.

isolation        the command line and environment of a child: nothing is imported from the working directory
child            the parent's end: numbered requests and their answers, events, limits of work, the end
child_end        the child's end: requests, answers and events, memory limit, end
called_process   a function called in a process of its own
"""
