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
package input
