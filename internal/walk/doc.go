// Package walk reads every row of a time range once from a gateway that returns pages. It works whatever the gateway does
// with its pages: they shift while rows are added, the order of rows within a second is unknown, and so is whether the
// bounds of a query are inclusive. It knows neither HTTP nor the contents of a row (see Source), and of JSON only the
// format of its own checkpoints.
//
// A walk queries time windows that each fit on one page. A window is complete when as many distinct rows were read as the
// gateway announces for it. The windows of one block together are complete when a query for the number of rows of the
// block, sent after all windows were read, returns as many rows as were read: rows may have been added to windows already
// read.
//
//   - source.go: what the package needs from its caller
//   - walk.go, report.go: a walk as its caller sees it
//   - saved.go: the stored format of a checkpoint
//   - walker.go: one pass over the range, and the row counts of its blocks
//   - prefetch.go, step.go: concurrent queries, and the queue of steps
//   - plan.go: which windows to read, and how to split one that does not fit on its page
//   - calendar.go, density.go, pagesize.go: where windows begin and end
//   - windowreader.go, firstpage.go, row.go: one window
//   - seenrows.go: which rows were yielded and counted
//   - outage.go: a gateway that is down for a while
package walk
