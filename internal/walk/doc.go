// Package walk reads every row of a range of time once from a gateway that answers in pages, whatever the gateway does
// with its pages: they move while rows arrive, the order of rows within a second is unknown, and so is whether the bounds
// of a query are inclusive. It knows neither HTTP nor what a row is, see Source, and of JSON only the form of its own
// checkpoints.
//
// A walk asks for windows of time that each fit one page. A window is complete when the distinct rows that were read
// are as many as the gateway announces for it. The windows of one month together are complete when the gateway, asked
// for the number of rows of the month after all windows were read, announces as many as were read: rows may have
// arrived behind the reader.
//
//   - source.go: what the package needs from outside
//   - walk.go, report.go: a walk as its caller sees it
//   - saved.go: a checkpoint as a program stores it
//   - walker.go: one pass over the range, and the counting of its months
//   - prefetch.go, step.go: the queries in flight, and the queue of what to do
//   - plan.go: which windows to read, and what to do with one that does not fit its page
//   - calendar.go, density.go, pagesize.go: where windows begin and end
//   - windowreader.go, firstpage.go, row.go: one window
//   - seenrows.go: which rows were yielded and counted
//   - outage.go: a gateway that is down for a while
package walk
