package back

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system is the job that a process and all that it starts belong to. The kernel
// ends it when its last handle is closed, which also happens when Beckon dies.
type system struct{ job windows.Handle }

func (p *process) isolate() {}

func (p *process) adopt() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("creating a job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = p.join(job)
	}
	if err != nil {
		windows.CloseHandle(job)
		return fmt.Errorf("setting up a job: %w", err)
	}
	p.job = job
	return nil
}

// join puts the process into the job.
func (p *process) join(job windows.Handle) error {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	h, err := windows.OpenProcess(access, false, uint32(p.cmd.Process.Pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(job, h))
}

func (p *process) forget() { windows.CloseHandle(p.job) }

// terminate ends the job: there is no way to ask a process without a window.
func (p *process) terminate() { p.kill() }

func (p *process) kill() { windows.TerminateJobObject(p.job, 1) }

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false // forget ends the rest
	default:
		return true
	}
}
