// Package api serves the questions of the form lane over REST: programs that speak
// no MCP ask people with it, and a page or an inbox answers with it.
//
// # The questions
//
// POST /api/v1/questions asks [input.Broker] for a question that Beckon manages: it
// is shown to nobody by itself, and belongs to the principal of the request. Whoever
// finds a question by its id may do everything with it; who does not own it is told
// the same as for one that never was. That goes for questions over MCP too: they can
// be seen and answered here by their principal. Where nobody has to tell who they
// are, there is no principal; then all questions over REST belong to one session,
// [Session], and neither they are within reach of a session of MCP, nor is a
// question of such a session from here.
//
// GET changes nothing. What was answered is only in the responses to the owner, in
// no log and in no error.
//
// # Events
//
// [Feeds] are an observer of the broker, and keep what happens to each open question
// until it ends, without what was answered. An event stream is served by the
// goroutine of its request, which sends what it has not sent, and then waits to be
// woken: so a caller that does not read holds up nobody, and is cut off by the
// deadline of its own write. Behind the end of a question there is one event, made of
// what the broker remembers; what happened before is then not told any more.
//
// # The door
//
// The front checks Host and Origin and authenticates, as for MCP. Here the requests
// that a browser sends for the page of another site are refused as well, and bodies
// are read as strictly as messages of MCP: unknown members, names that are there
// twice and invalid UTF-8 are errors. What is taken, what is answered and what the
// OpenAPI document says is all made of the same structs.
//
// # Stopping
//
// No question is taken once the gateway begins to stop. When the calls of MCP have
// ended, Close withdraws the questions that were asked here; the streams tell of
// that and end.
package api
