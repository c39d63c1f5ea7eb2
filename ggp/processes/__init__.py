"""Child processes: how they start, what they exchange with their parent, and how they end.

isolation       the command line and environment of a child: nothing is imported from the working directory
child_process   the parent's end in an event loop: start, lines, kill; limits in CPU time
child_link      the same with numbered requests, each with a limit of work, and events
asked_child     the parent's end in a thread that waits: questions and answers with a time limit
called_process  a function called in a process of its own
child_end       the child's end: lines, memory limit, end
"""
