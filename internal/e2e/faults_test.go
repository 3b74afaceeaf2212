//go:build e2e

package e2e

import "slices"

// A fault names scenarios that two peers cannot play with each other, Beckon or
// not. They are left out wherever the two meet.
type fault struct {
	client    string
	server    string // empty: every server
	transport string // on which the client speaks; empty: every one
	scenarios []string
	why       string
}

func faults() []fault {
	return []fault{
		{
			client: "go-sdk", transport: "http",
			scenarios: []string{"call cancelled while it asks", "asking call was cancelled"},
			why:       "go-sdk closes the stream of a call that it cancels, and never sees what the server still sends there",
		},
		{
			client: "typescript", server: "everything-http",
			scenarios: []string{"URL needed first", "URL needed no more", "call cancelled"},
			why: "the client resumes a stream with Last-Event-ID unless a result ended it, an error being none to it; " +
				"the server then replays the events of all streams, and the client is asked old questions again",
		},
	}
}

// playable returns the scenarios of s that c can play on one of the ways, and
// on all others: runs that are compared play the same.
func playable(c client, s server, ways ...reach) []scenario {
	return slices.DeleteFunc(s.scenarios(), func(sc scenario) bool {
		return slices.ContainsFunc(faults(), func(f fault) bool {
			return f.client == c.name && slices.Contains(f.scenarios, sc.Name) &&
				(f.server == "" || f.server == s.name) &&
				(f.transport == "" || slices.ContainsFunc(ways, func(r reach) bool {
					transport, _ := r.transport(s)
					return transport == f.transport
				}))
		})
	})
}
