// A second device without a GPU: torch's PrivateUse1 slot, with memory of its own kind in host
// memory. Operators it does not have run on the CPU and their results are copied back, so values
// are the CPU's, while tensors, storages, errors and the engine's threads are those of a device.
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/extension.h>

#include <mutex>
#include <set>

namespace {
using at::Tensor;
constexpr auto TYPE = c10::DeviceType::PrivateUse1;
const c10::DispatchKeySet KEYS(c10::DispatchKey::PrivateUse1);

struct Memory final : at::Allocator {
  at::DataPtr allocate(size_t bytes) override {
    void* data = bytes ? malloc(bytes) : nullptr;
    return {data, data, &free, at::Device(TYPE, 0)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, size_t n) const override { memcpy(to, from, n); }
};
Memory memory;
REGISTER_ALLOCATOR(TYPE, &memory);

// Host memory that counts as pinned for the device.
struct Pinned final : at::Allocator {
  static std::mutex& lock() { static std::mutex one; return one; }
  static std::set<const void*>& all() { static std::set<const void*> one; return one; }
  static void unpin(void* data) {
    std::lock_guard<std::mutex> guard(lock());
    all().erase(data);
    free(data);
  }
  at::DataPtr allocate(size_t bytes) override {
    void* data = malloc(bytes ? bytes : 1);
    std::lock_guard<std::mutex> guard(lock());
    all().insert(data);
    return {data, data, &unpin, at::Device(at::kCPU)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, size_t n) const override { memcpy(to, from, n); }
};
Pinned pinned;

struct Guard final : c10::impl::DeviceGuardImplInterface {
  using Device = c10::Device;
  using Stream = c10::Stream;
  Stream only() const { return Stream(Stream::DEFAULT, Device(TYPE, 0)); }
  c10::DeviceType type() const override { return TYPE; }
  Device exchangeDevice(Device) const override { return {TYPE, 0}; }
  Device getDevice() const override { return {TYPE, 0}; }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}
  Stream getStream(Device) const override { return only(); }
  Stream getNewStream(Device, int) const override { return only(); }
  Stream exchangeStream(Stream) const override { return only(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  // The device has finished when a call returns, so there is nothing to wait for.
  void record(void**, const Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const Stream&) const override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned; }
  bool isPinnedPtr(const void* data) const override {
    std::lock_guard<std::mutex> guard(Pinned::lock());
    return Pinned::all().count(data) > 0;
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    at::DataPtr fresh = memory.allocate(bytes);
    if (size_t kept = std::min(bytes, storage.nbytes())) memcpy(fresh.get(), storage.data(), kept);
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(fresh));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
             std::optional<at::Device>, std::optional<bool>,
             std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &memory, KEYS, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                     std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                     std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &memory, KEYS,
                                           c10::dtype_or_default(dtype));
}

// Tensors on the CPU over the same bytes. Those that share a storage on the device share one here,
// so that the CPU's checks for overlapping arguments see what they would see there.
struct Twins {
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages;
  std::vector<std::pair<Tensor, Tensor>> made;  // (on the CPU, on the device)

  Tensor of(const Tensor& x) {
    if (!x.defined() || !x.is_privateuseone()) return x;
    c10::StorageImpl* key = x.storage().unsafeGetStorageImpl();
    if (!storages.count(key)) {
      at::DataPtr bytes(key->mutable_data(), nullptr, [](void*) {}, at::kCPU);
      storages[key] = c10::Storage(c10::Storage::use_byte_size_t(), key->nbytes(), std::move(bytes),
                                   nullptr, false);
    }
    Tensor twin = at::empty({0}, x.options().device(at::kCPU));
    twin.set_(storages[key], x.storage_offset(), x.sizes(), x.strides());
    twin.unsafeGetTensorImpl()->_set_conj(x.is_conj());
    twin.unsafeGetTensorImpl()->_set_neg(x.is_neg());
    made.emplace_back(twin, x);
    return twin;
  }

  // A result on the device: the argument itself where the operator returns its argument.
  Tensor back(const Tensor& x) {
    if (!x.defined()) return x;
    for (auto& [twin, original] : made)
      if (twin.is_same(x)) return original;
    return x.to(at::Device(TYPE, 0));
  }

  c10::IValue map(const c10::IValue& value, bool to_cpu) {
    auto one = [&](const Tensor& x) { return to_cpu ? of(x) : back(x); };
    if (value.isTensor()) return one(value.toTensor());
    if (value.isTensorList()) {
      c10::List<Tensor> mapped;
      for (const Tensor& x : value.toTensorList()) mapped.push_back(one(x));
      return mapped;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<Tensor>> mapped;
      for (std::optional<Tensor> x : value.toOptionalTensorList())
        mapped.push_back(x ? std::optional<Tensor>(one(*x)) : x);
      return mapped;
    }
    if (to_cpu && value.isDevice()) return at::Device(at::kCPU);
    return value;
  }
};

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  Twins twins;
  twins.of(to).copy_(twins.of(from));
  return to;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar item(const Tensor& x) { return Twins().of(x).item(); }

const Tensor& resize_(const Tensor& x, at::IntArrayRef size, std::optional<at::MemoryFormat> f) {
  if (x.sizes() == size && !f) return x;  // as on the CPU: strides stay
  auto* impl = x.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  if (f && *f != at::MemoryFormat::Preserve) impl->empty_tensor_restride(*f);
  size_t bytes = impl->numel() ? (x.storage_offset() + impl->numel()) * x.itemsize() : 0;
  if (bytes > x.storage().nbytes()) Hooks().resizePrivateUse1Bytes(x.storage(), bytes);
  return x;
}

Tensor& set_storage(Tensor& x, at::Storage source, int64_t offset, at::IntArrayRef size,
                    at::IntArrayRef stride) {
  x.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(source));
  x.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
  return x;
}

// Every other operator: run on the CPU over the same bytes. An empty tensor that is to be filled
// (out=) gets its size from the CPU's result.
void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  for (const auto& result : schema.returns())
    TORCH_CHECK_NOT_IMPLEMENTED(!result.alias_info() || result.alias_info()->isWrite(),
                                schema.operator_name(), " returns a view; register it");
  const size_t first = stack->size() - schema.arguments().size();
  Twins twins;
  std::vector<std::pair<Tensor, Tensor>> filled;  // (on the CPU, on the device)
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    c10::IValue& value = (*stack)[first + i];
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias && alias->isWrite() && value.isTensor() && value.toTensor().numel() == 0) {
      Tensor fresh = at::empty({0}, value.toTensor().options().device(at::kCPU));
      filled.emplace_back(fresh, value.toTensor());
      twins.made.emplace_back(fresh, value.toTensor());
      value = fresh;
    } else {
      value = twins.map(value, true);
    }
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  for (auto& [from, to] : filled) copy_from_and_resize(from, to);
  for (size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i)
    (*stack)[i] = twins.map((*stack)[i], false);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", item);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}
}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  at::RegisterPrivateUse1HooksInterface(new Hooks());
}
