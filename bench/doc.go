// Package bench measures the client beside what a program would use in its place: the same requests written by hand
// over net/http and encoding/json, three other libraries, and as the limit net/http without any encoding. All of them
// talk to one server on the loopback interface, which runs in a process of its own. run.sh measures and compares;
// RESULTS.md holds what it found.
package bench
