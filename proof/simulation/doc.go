// Package simulation runs weeks of merchants' lives in virtual time, decided by a seed, and checks the promises of the library
// against the ledger of the sandbox after every step.
//
// Plan draws a History: the world (shops, gateways, stores), the things that are bought and refunded, and the steps, with
// every fault as an argument of a step. Run carries it out in a testing/synctest bubble and returns the promises that were
// broken. Nothing is drawn while a history runs, and a step names what it is about by an index that is taken modulo what
// exists: so any part of the steps is a valid history too, and Shrink can cut a broken one down.
//
// # Who does what
//
//   - history.go, plan.go: what can happen, and how it is drawn.
//   - world.go, scheduler.go: carry the steps out, one goroutine at a time.
//   - process.go, storage.go, network.go: one run of a merchant's program, which reaches the outside only through its store
//     and its RoundTripper. Both are places where it can be delayed, disturbed or killed.
//   - gateway.go: the sandbox, and answers that are changed as the interface allows. archive.go: what it has of earlier years.
//   - merchant.go, books.go: what the merchant calls, what was told and stored.
//   - notifications.go, mail.go, deduper.go: what the gateway and others send to the merchant, and what the merchant makes of it.
//   - walks.go, lookups.go: jobs that walk over all orders and refunds, and calls of people and of small programs.
//   - surroundings.go, backup.go: what happens without a call, from the cardholder's card to the database's administrator.
//   - replicas.go: processes that all call Run, and who of them works.
//   - oracle.go, rest.go: the promises, after each step and when the world has come to rest.
//   - shrink.go, story.go: the shortest history that still breaks a promise, in words and as Go code.
//
// # How to add an actor
//
// Something else that lives in the world (a job that walks the orders, a notification handler) goes into a file of its own
// and is added to the list in actors.go. An actor has
//
//   - plan, which draws its steps into a History: draw from the given draw only, and give each step Do = "name: action";
//     arguments are the fields of Step (N, Delay, Text, Thing, Shop, Process, Post, Query, DieAt, With); add a field if none fits;
//   - do, which carries out one of its steps. Call the library within w.call (a goroutine of a process, which a kill can
//     end) and compare what it returns with w.gatewayOf(shop).sandbox: report a broken promise with w.violate;
//   - rest, which is called when the world has come to rest: faults are off, two days have passed.
//
// It adds to w.ends what has to end with the world.
//
// State that lives in the merchant's program belongs to *process (it dies with it); state that survives (a checkpoint that
// was saved, an order in the merchant's database) belongs to *shop or to the actor, and is written only while the
// process lives: check p.isDead() after each call of the library, before something is stored.
package simulation
