package api

import (
	"encoding/json"
	"reflect"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

// codesOf is the schema of the codes of errors, which are numbers or words; nil for
// any other type.
func codesOf(t reflect.Type) object {
	if t != reflect.TypeFor[form.Code]() {
		return nil
	}
	return object{
		"type":        []string{"integer", "string"},
		"description": "-32007 where a constraint is not met, and a word where the answer could not even be read.",
	}
}

// exampleForm is the form of the examples.
const exampleForm = `{"id":"deploy","title":"Deploy to production?","fields":[` +
	`{"id":"version","type":"text","label":"Version","required":true,"validation":{"pattern":"^v[0-9]+$"}},` +
	`{"id":"region","type":"select","label":"Region","default":"eu","options":["eu","us"]}]}`

const exampleID = "elic_ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// exampleQuestion is the question of the examples, nobody having answered.
func exampleQuestion() Question {
	const asked, term, most, warning = 1_793_000_000_000, 300_000, 3_600_000, 60_000
	return Question{
		ID: exampleID, Status: input.Pending, CreatedAt: asked, TimeoutAt: asked + term,
		Message: "The tests are green.", Form: json.RawMessage(exampleForm),
		RetryLimit: 3, RetryAllowed: true, ExtensionsRemaining: 10,
		TimeoutConfig: input.TimeoutConfig{InitialTimeout: term, ExtensionAllowed: true, ExtensionDuration: term, MaxExtensions: 10, MaxTotal: most, WarnBefore: warning},
	}
}

func exampleAnswered() Question {
	const after = 42_000
	q := exampleQuestion()
	q.Status, q.EndedAt, q.RetryAllowed = input.Completed, q.CreatedAt+after, false
	q.Response = &form.Response{
		FormID: "deploy", Responses: json.RawMessage(`{"version":"v7","region":"eu"}`),
		Metadata: form.ResponseMetadata{SubmittedAt: q.EndedAt, UserAgent: "curl/8.5.0", SessionID: Session},
	}
	return q
}

func exampleWithdrawn() Question {
	const after = 42_000
	q := exampleQuestion()
	q.Status, q.EndedAt, q.RetryAllowed = input.Dropped, q.CreatedAt+after, false
	q.Reason, q.Detail = input.FormInvalidated, "the question was withdrawn: it was decided elsewhere"
	return q
}

func askDoc() operation {
	return operation{
		id: "ask", summary: "Ask a question",
		text:    "Opens a question of whoever sends this. It is open until it is answered, declined, cancelled or withdrawn, or its time is over.",
		request: Asking{Form: json.RawMessage(exampleForm), Message: "The tests are green."},
		replies: []reply{{201, "The question is open.", typeJSON, exampleQuestion(), map[string]string{"Location": "Where the question is."}}},
		problems: []int{
			422, // the form is faulty
			429, // the limits of the form lane
			503, // stopping
		},
	}
}

func showDoc() operation {
	return operation{
		id: "show", summary: "See how a question stands",
		text: "Changes nothing. A question that has ended can be seen for a while (forms.keep_ended).",
		replies: []reply{
			{200, "How the question stands.", typeJSON, exampleAnswered(), map[string]string{"ETag": "Changes when the question does."}},
			{304, "The question stands as If-None-Match says.", "", nil, nil},
		},
	}
}

func answerDoc() operation {
	return operation{
		id: "answer", summary: "Answer a question",
		text: "Answers are converted where that loses nothing, and checked. Of invalid ones everything that is wrong is told, and they may be sent again " +
			"until there were retry_limit; then the question is cancelled.",
		request:  Answering{Responses: json.RawMessage(`{"version":"v7","region":"eu"}`)},
		replies:  []reply{{200, "The question is answered, declined or cancelled.", typeJSON, exampleAnswered(), nil}},
		problems: []int{409, 422},
	}
}

func extendDoc() operation {
	return operation{
		id: "extend", summary: "Give a question more time",
		text:    "Adds to the time that is left, as often and as much as the terms of the question allow, and only before it is over.",
		request: Extending{ExtensionDuration: 300_000}, optional: true,
		replies:  []reply{{200, "The question is open for longer.", typeJSON, Extension{exampleQuestion().TimeoutAt + 300_000, 9}, nil}},
		problems: []int{409},
	}
}

func withdrawDoc() operation {
	return operation{
		id: "withdraw", summary: "Withdraw a question",
		text:    "Ends a question to which nobody wants to know the answer any more. A question of a backend cannot be withdrawn over REST.",
		request: Withdrawing{Reason: "it was decided elsewhere"}, optional: true,
		replies:  []reply{{200, "The question is withdrawn.", typeJSON, exampleWithdrawn(), nil}},
		problems: []int{409},
	}
}

func eventsDoc() operation {
	return operation{
		id: "events", summary: "Follow a question",
		text: "A stream of server-sent events: active (somebody has begun), rejected (answers were invalid), warning (it ends soon), extended (it ends later), ended. " +
			"The data of each is the question as it stood then, as a Question. The stream begins with what has happened so far, or behind Last-Event-ID, and ends behind ended. " +
			"A caller that takes too long to read is cut off.",
		replies: []reply{
			{200, "The stream.", "text/event-stream", nil, nil},
			{204, "Last-Event-ID was that of ended: there is nothing more to come.", "", nil, nil},
		},
		problems: []int{429},
	}
}

func describeDoc() operation {
	return operation{
		id: "describe", summary: "This document",
		replies: []reply{{200, "The document, in OpenAPI 3.1.", typeJSON, object{"openapi": "3.1.0"}, nil}},
	}
}
