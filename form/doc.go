// Package form is a form that a person fills in: what it asks, whether an answer is
// valid, and how it looks in JSON Schema and in the Model Context Protocol.
//
// [Parse] reads a definition, strictly, and returns a [Form], which does not change
// any more. [Form.Read] reads answers: it converts them without loss, checks
// them, and returns the values or everything that is wrong. [Form.Schema] is the
// form in JSON Schema 2020-12, and [Form.Flatten] in the flat schema that MCP
// clients understand, with a list of what cannot be said there. [Lift] goes the
// other way, so that one validator and one renderer serve both.
//
// Nothing here fetches, resolves, waits or keeps state; all of it may be used by
// several goroutines at the same time.
package form
