// Package input is the life of an input request: what a backend asks during a
// call, on its way to whoever can answer it.
//
// A [Request] is opened by [Broker.Open], which admits or refuses it: the
// feature may be switched off, the client may not have declared that it can be
// asked this, the form may break the rules, or too many may be open. An admitted
// request is offered on one [Channel] and ends exactly once, with the first of
//
//   - an answer ([Request.Settle]): what the person, the model or the client said;
//   - its deadline: every request has one;
//   - its withdrawal ([Request.Withdraw]): the backend cancelled it, its call
//     ended, or whoever could answer it is gone.
//
// Whatever comes later changes nothing and is told so. An end that is not an
// answer is never turned into one: a timeout is no decline.
//
// The broker owns the set of open requests. It holds no goroutine per request:
// deadlines are runtime timers, answers are callbacks, so that an open request
// costs its own bytes and little more.
//
// # Forms
//
// A request of the form lane brings a form definition instead of a schema, and
// Beckon owns it: the client is shown what a flat schema can say of it
// ([Request.Ask]), answers are converted, completed and checked ([form.Coerce]), and
// a person whose answer does not fit is offered the request again, with what is
// wrong in the message and what was right as defaults, as often as the terms allow.
// A backend may have the answers to its own schemas judged likewise
// ([Question.Validate]), by the letter ([form.Strict]); of any other request nobody
// looks at the answers, and it costs what it did without forms.
//
//	pending ── Touch, an invalid answer ──> active ── Extend ──> extended
//	   └──────────────┴───────────── one end ─────────┘
//	      completed · declined · cancelled · timeout · withdrawn · abandoned
//
// A form can also be answered, declined and extended beside its channel, by
// whoever owns it ([Broker.Find]); a form that Beckon itself was asked to keep has no
// channel at all. Answers are read without a lock: of two at the same time one
// counts. What happens to a request with a form is told in the order in which it
// happened - to the observer, to [Question.Watch], to the channel and last to done -
// by one goroutine at a time; so whoever ends a form may return before the last of
// them has been told, when another goroutine is at it.
//
// The end of a form is remembered for a while, so that who comes late is told so.
// What it was answered lies sealed meanwhile, under a key of this process, and only
// [Request.Status] opens it. What has been typed into a form that is still open is
// held as it is, because it is needed to ask again.
package input
