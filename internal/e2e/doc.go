// Package e2e tests Beckon from the outside with real peers, none of them
// ours: the official conformance suite, clients built on the go-sdk and on the
// TypeScript SDK, the Inspector's command lines, and servers built on both
// SDKs. It holds tests only, behind the build tag e2e; `make test-e2e` runs
// them and fetches what they need. A part that is missing is a failure.
//
// The idea is one comparison: the same client plays the same script against
// the same server twice, first directly, then through Beckon, and must see the
// same. What it sees is a transcript (transcript_test.go): every call with its
// outcome, every question it was asked with the answer it gave, every
// notification, as JSON text, so that a lost member, a reordered form or a
// respelled number shows. How a client gets to a server is a reach
// (reach_test.go); directly and through Beckon differ in nothing else.
//
// # Parts
//
//   - script_test.go: what a client does, as data. Played in process by
//     player_test.go (go-sdk), and by node/client.mjs (TypeScript SDK).
//   - scenarios_*_test.go: the scripts, with what must happen.
//   - servers_test.go, askserver: the servers behind.
//   - faults_test.go: what two peers cannot do with each other, and why.
//   - beckon_test.go: starts the binary under test.
//   - conformance_test.go, inspector_test.go, crossing_test.go, peers_test.go:
//     the tests. Names ending in Direct need no Beckon; those ending in Through do.
//
// # Life cycle
//
// Every process belongs to the test that started it and is gone when that test
// ends. Binaries are built once per test process into a folder that TestMain
// removes. Everything listens on 127.0.0.1, on ports chosen by the kernel.
package e2e
