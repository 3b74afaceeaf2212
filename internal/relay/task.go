package relay

import (
	"context"
	"errors"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// taskCancelWait bounds how long a task is told that nobody waits for it.
const taskCancelWait = 5 * time.Second

// runTask calls a tool that a legacy backend only runs as a task, for a client that
// knows no such tasks: it makes the task and waits for its result, which is that of
// the call. What the task asks comes with that.
//
// "If execution.taskSupport is "required", clients MUST invoke the tool as a task."
// "For tasks in a terminal status, receivers MUST return from tasks/result exactly
// what the underlying request would have returned, whether that is a successful
// result or a JSON-RPC error."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
func (r *route) runTask(ctx context.Context, session *back.Session, req wire.Message, c *caller) (wire.Message, error) {
	made, err := session.Call(ctx, req.WithParams(wire.Set(req.Params(), []byte(`{}`), "task")), c)
	if err != nil || made.Kind() == wire.Failure {
		return made, err
	}
	id := wire.Get(made.Result(), "task", "taskId")
	if id == nil {
		return made, nil // it was no task after all
	}
	about := wire.Set(nil, id, "taskId")
	resp, err := session.Call(ctx, wire.NewRequest(req.ID(), "tasks/result", about), c)
	if ctx.Err() != nil {
		stop, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), taskCancelWait, errors.New("the backend does not cancel the task"))
		defer cancel()
		if _, err := session.Call(stop, wire.NewRequest(req.ID(), "tasks/cancel", about), c); err != nil {
			r.session.log.Warn("task not cancelled", "backend", r.backend.Name, "err", err)
		}
	}
	return resp, err
}
