"""Child processes: start, messages, limits and end.

isolation    processes that import nothing from the working directory; a function called in one
child        the parent's end: numbered requests and their answers, events, limits of work, the end
child_end    the child's end: requests, answers and events, memory limit, end
"""
