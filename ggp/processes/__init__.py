"""Child processes: start, messages, limits and end.

isolation        the command line and environment of a child: no imports from the working directory
child            the parent's end: numbered requests and their answers, events, limits of work, the end
child_end        the child's end: requests, answers and events, memory limit, end
called_process   a function called in a separate process
"""
