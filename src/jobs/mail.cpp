#include "jobs/mail.hpp"

namespace muster::jobs {

bool MailWork::turn(const Deadline& deadline) {
    return dispatch_.step([&deadline] { return deadline.over(); }) > 0;
}

}  // namespace muster::jobs
