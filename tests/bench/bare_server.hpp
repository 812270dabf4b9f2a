// The minimal prefork FastCGI server of the floors: workers that share a listener.
#pragma once

#include <fcgiapp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace muster::bench {

inline std::string reply_of(const std::string& status, const std::string& body) {
    return "Status: " + status +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

// The loop of each worker: answers every request with the result of `answer`.
inline void answer_for_ever(int listener, const std::function<const std::string&()>& answer) {
    setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1);  // like musterd: closing does not wait
    FCGX_Init();
    FCGX_Request request;
    FCGX_InitRequest(&request, listener, 0);
    while (FCGX_Accept_r(&request) == 0) {
        const std::string& reply = answer();
        FCGX_PutStr(reply.data(), static_cast<int>(reply.size()), request.out);
        FCGX_Finish_r(&request);
    }
}

// Runs `work(listener)` in that many processes until SIGTERM, which stops them first. Returns the
// exit status of the program.
inline int serve(const char* socket, int workers, const std::function<void(int)>& work) {
    constexpr int kBacklog = 1024;
    sigset_t until_end;
    sigemptyset(&until_end);
    sigaddset(&until_end, SIGTERM);
    sigprocmask(SIG_BLOCK, &until_end, nullptr);
    FCGX_Init();
    const int listener = FCGX_OpenSocket(socket, kBacklog);
    if (listener < 0) return 1;
    std::vector<pid_t> children;
    for (int i = 0; i < workers; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            work(listener);
            _exit(1);
        }
        children.push_back(child);
    }
    int signal = 0;
    sigwait(&until_end, &signal);
    for (const pid_t child : children) kill(child, SIGKILL);
    while (wait(nullptr) > 0) continue;
    return 0;
}

}  // namespace muster::bench
