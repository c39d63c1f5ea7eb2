"""Nested rollouts: anytime search in games of one role.

kernels       rollouts by a policy in all lanes, and the policy's adaptation
single_role   nested rollout policy adaptation
"""
