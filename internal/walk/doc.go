// Package walk reads every row of a time range once from a gateway that returns pages. It works whatever the gateway does
// with its pages: they shift while rows are added, the order of rows within a second is unknown, and so is whether the
// bounds of a query are inclusive. It knows neither HTTP nor the contents of a row (see Source), and of JSON only the
// format of its own checkpoints.
//
// Its words:
//
//   - A span is a stretch of the gateway's wall-clock time; the range is the span that the whole walk covers.
//   - A window is the span of one query. It should fit on one page, and is complete when as many distinct rows were read as the
//     gateway announces for it.
//   - A round is one reading of all pages of a window. If the total changes meanwhile, a new generation of rows begins.
//   - A block is a sequence of windows, of a month at most, whose rows are counted together. It is complete when a query for its
//     number of rows, sent after all windows were read, returns as many as were read: rows may have been added to windows
//     already read.
//   - The density is how many rows there are at which time. A probe is a window that is sent before the density is known.
//   - A step is an entry of the queue: a window, a span of a block that is not cut into windows yet, or the count of its rows.
//
// Its files:
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
