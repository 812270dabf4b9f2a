// P9's floor: a bare prefork FastCGI program that answers every request with the same JSON.
// Usage: floor_fixed SOCKET WORKERS FILE; ends on SIGTERM, its workers first. Run by lib/wrk.py.
#include <fcgiapp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int kBacklog = 1024;

void answer_for_ever(int listener, const std::string& reply) {
    setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1);  // as musterd does: no wait at each close
    FCGX_Init();
    FCGX_Request request;
    FCGX_InitRequest(&request, listener, 0);
    while (FCGX_Accept_r(&request) == 0) {
        FCGX_PutStr(reply.data(), static_cast<int>(reply.size()), request.out);
        FCGX_Finish_r(&request);
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::ifstream file(argc == 4 ? argv[3] : "");
    const std::string body((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const int workers = argc == 4 ? std::atoi(argv[2]) : 0;
    if (workers < 1 || body.empty()) {
        std::fputs("usage: floor_fixed SOCKET WORKERS FILE\n", stderr);
        return 2;
    }
    const std::string reply = "Status: 200\r\nContent-Type: application/json\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
    sigset_t until_end;
    sigemptyset(&until_end);
    sigaddset(&until_end, SIGTERM);
    sigprocmask(SIG_BLOCK, &until_end, nullptr);
    FCGX_Init();
    const int listener = FCGX_OpenSocket(argv[1], kBacklog);
    if (listener < 0) return 1;
    std::vector<pid_t> children;
    for (int i = 0; i < workers; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            answer_for_ever(listener, reply);
            return 0;
        }
        children.push_back(child);
    }
    int signal = 0;
    sigwait(&until_end, &signal);
    for (const pid_t child : children) kill(child, SIGKILL);
    while (wait(nullptr) > 0) continue;
    return 0;
}
