"""The checks: what each file finds, and the sentence of each finding.

structure      GDL201 GDL202 GDL203 GDL204 GDL213 GDL214 GDL215 GDL217 GDL319 GDL321 GDL327 GDL329
safety         GDL205 GDL304
dependence     GDL206 GDL207 GDL303
recursion      GDL208 GDL216 GDL318
roles          GDL209 GDL212 GDL322 GDL324 GDL325 GDL330
names          GDL302 GDL313 GDL314 GDL315 GDL320
dead_rules     GDL301 GDL305 GDL306 GDL307 GDL308
redundancy     GDL309 GDL310 GDL311 GDL312 GDL328
foreign        GDL218 GDL219 GDL332
facts          GDL316 GDL317 GDL323 GDL326

`gdl.syntax` reports GDL1xx, `gdl.normalize` GDL210 and GDL211. Each check is a generator of diagnostics over
a `Sheet` and stands in `CHECKS` at the end of its file. Rule sheets are untrusted: every check is linear in
the size of the sheet, or stops after a fixed number of steps.
"""
