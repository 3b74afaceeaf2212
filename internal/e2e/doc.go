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
//     player_test.go (go-sdk), and by node/client.mjs and node/modern.mjs
//     (TypeScript SDK, of the legacy and of the modern era).
//   - scenarios_*_test.go: the scripts, with what must happen.
//   - servers_test.go, askserver, node/server.mjs: the servers behind.
//   - faults_test.go: what two peers cannot do with each other, and why.
//   - beckon_test.go: starts the binary under test.
//   - matrix*_test.go, eraserver: the era matrix, below.
//   - states_test.go: what must not pass for the state of a parked call.
//   - conformance_test.go, inspector_test.go, crossing_test.go, peers_test.go:
//     the tests. Names ending in Direct need no Beckon; those ending in Through do.
//   - bridge_test.go, bridgeserver: the conformance suite of each era in front of
//     servers of the other, with the list of what cannot be bridged.
//   - eras_test.go: clients and servers on the TypeScript SDK of the modern era.
//     They are compared with a client and a server that have an era in common.
//   - parked_test.go: calls that nobody comes back for are let go in time.
//   - relaybench: what Beckon costs; a program, and `make bench`.
//
// # The era matrix
//
// Where the eras differ there is nothing to compare with: the matrix computes
// what must come out. A cell is one call of eraserver's only tool, in every
// combination of the client's era and transport, the backend's, the kind of
// question and its outcome; `leftOut` says which there are not, and why. Both
// peers are go-sdk, each of one era alone. The tool writes what it did into a
// file, so that a cell can tell how often it ran although it was killed. The
// files:
//
//   - matrix_test.go: the cells, the order in which they are played.
//   - matrix_want_test.go: what must come out of a cell.
//   - matrix_play_test.go: what happens in a cell.
//   - matrix_client_test.go, matrix_desk_test.go: its client, and who answers there.
//   - matrix_stage_test.go, matrix_ledger_test.go: the servers, and what they did.
//   - matrix_raw_test.go, matrix_replay_test.go: a client without an SDK, which
//     retries as no SDK does.
//
// # Life cycle
//
// Every process belongs to the test that started it and is gone when that test
// ends. Binaries are built once per test process into a folder that TestMain
// removes. Everything listens on 127.0.0.1, on ports chosen by the kernel.
package e2e
