#include "transports/com/lasting_interfaces_win32.hpp"

#include "core/detached_thread.hpp"
#include "transports/com/apartment_win32.hpp"
#include "transports/com/dispatch_win32.hpp"
#include "win32/wine.hpp"

#include <future>
#include <utility>

namespace ipc::com {
namespace {

// An object without methods. Nobody is told of it.
class Nothing final : public Dispatch {
  public:
    Nothing() : Dispatch({}) {}

  private:
    HRESULT call(DISPID, std::span<const VARIANT* const>, VARIANT*) override { return DISP_E_MEMBERNOTFOUND; }
};

// As the running object table has doors (IUnknown), and as clients have sessions (IDispatch). The apartment's own interface, over
// which clients release objects, comes with them.
void keep_in_use(IUnknown* object) {
    for (const IID& interface_id : {IID_IUnknown, IID_IDispatch}) {
        Reference<IStream> described;
        if (SUCCEEDED(CreateStreamOnHGlobal(nullptr, TRUE, described.receive())))
            static_cast<void>(CoMarshalInterface(described.get(), interface_id, object, MSHCTX_LOCAL, nullptr,
                                                 MSHLFLAGS_TABLESTRONG));
    }
}

bool start_keeping() {
    std::promise<void> kept;
    std::future<void> ready = kept.get_future();
    start_detached([kept = std::move(kept)]() mutable {
        const InApartment apartment(false);
        const Reference<Nothing> object(new Nothing);
        if (SUCCEEDED(apartment.entered())) keep_in_use(object.get());
        kept.set_value();
        Sleep(INFINITE);
    });
    ready.wait();
    return true;
}

} // namespace

void keep_interfaces() {
    static const bool kept = win32::under_wine() && start_keeping();
    static_cast<void>(kept);
}

} // namespace ipc::com
