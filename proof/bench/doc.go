// Package bench compares the client with what a program would use instead: the same requests written by hand with net/http
// and encoding/json, another library, and, as the lower limit, net/http without any encoding. All of them use one
// server on the loopback interface, which runs in a separate process. run.sh measures and compares, compare.sh compares the
// client with that of an earlier commit, and RESULTS.md has the results.
package bench
