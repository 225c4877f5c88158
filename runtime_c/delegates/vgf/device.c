#define _POSIX_C_SOURCE 200809L /* setenv */

#include "delegates/vgf/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const extensions[] = {VK_ARM_TENSORS_EXTENSION_NAME,
                                         VK_ARM_DATA_GRAPH_EXTENSION_NAME};
/* The graph layer needs what the tensor layer offers: above it, so before it. */
static const char *const layers[] = {"VK_LAYER_ML_Graph_Emulation", "VK_LAYER_ML_Tensor_Emulation"};

enum {
  MAX_DEVICES = 16,
  MAX_FAMILIES = 16,
  MAX_EXTENSIONS = 1024,
  MAX_LAYERS = 256,
  MAX_SETS = 32
};

/* --- the loader ----------------------------------------------------------------------------- */

static pte_status load(pte_vgf_device *v, pte_error *error) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) library = dlopen("libvulkan.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return pte_delegate_fail(error, "no Vulkan loader (libvulkan.so.1): apt install libvulkan1");
  *(void **)&v->vkGetInstanceProcAddr = dlsym(library, "vkGetInstanceProcAddr");
  if (v->vkGetInstanceProcAddr == NULL)
    return pte_delegate_fail(error, "libvulkan.so.1 has no vkGetInstanceProcAddr: reinstall it");
  return PTE_OK; /* stays loaded: drivers do not like to be unloaded */
}

/* Where Arm's package has the layers: manifests here, libraries in lib/. */
static const char manifests[] = "share/vulkan/explicit_layer.d";
enum { MAX_PATH = 4096 };

/* The Vulkan loader finds manifests through VK_LAYER_PATH alone, and these name their libraries
 * without a folder. So that PTERON_VGF_LAYERS is all one has to set, the path is set while the
 * instance is made, and the libraries are opened first: the loader then gets those. True: the
 * caller takes the path away again. */
static bool offer_layers(void) {
  static const char *const libraries[] = {"libVkLayer_Tensor.so", "libVkLayer_Graph.so"};
  const char *folder = getenv("PTERON_VGF_LAYERS");
  char path[MAX_PATH];
  if (folder == NULL || getenv("VK_LAYER_PATH") != NULL) return false;
  for (uint32_t i = 0; i < 2; i++) {
    int length = snprintf(path, sizeof path, "%s/lib/%s", folder, libraries[i]);
    if (length > 0 && length < MAX_PATH) (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  int length = snprintf(path, sizeof path, "%s/%s", folder, manifests);
  return length > 0 && length < MAX_PATH && setenv("VK_LAYER_PATH", path, 0) == 0;
}

static bool has_layers(const pte_vgf_device *v) {
  uint32_t count = MAX_LAYERS, present = 0;
  PFN_vkEnumerateInstanceLayerProperties enumerate =
      (PFN_vkEnumerateInstanceLayerProperties)v->vkGetInstanceProcAddr(
          NULL, "vkEnumerateInstanceLayerProperties");
  VkLayerProperties *found = calloc(MAX_LAYERS, sizeof *found); /* 130 KB: not for a stack */
  if (enumerate == NULL || found == NULL || enumerate(&count, found) < 0) count = 0;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < 2; k++)
      if (strcmp(found[i].layerName, layers[k]) == 0) present |= 1u << k;
  free(found);
  return present == 3;
}

static pte_status create_instance(pte_vgf_device *v, uint32_t layer_count, pte_error *error) {
  PFN_vkCreateInstance create =
      (PFN_vkCreateInstance)v->vkGetInstanceProcAddr(NULL, "vkCreateInstance");
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .pApplicationName = "pteron",
                                   .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &application,
                               .enabledLayerCount = layer_count,
                               .ppEnabledLayerNames = layers};
  VkResult result =
      create == NULL ? VK_ERROR_INITIALIZATION_FAILED : create(&info, NULL, &v->instance);
  if (result != VK_SUCCESS)
    return pte_delegate_fail(error, "vkCreateInstance: error %d%s", result,
                             layer_count == 0 ? "" : "; are the layers' libraries to be found?");
  bool complete = true;
#define PTE_VGF_LOAD(name)                                                                         \
  v->name = (PFN_##name)v->vkGetInstanceProcAddr(v->instance, #name);                              \
  complete = complete && v->name != NULL;
  PTE_VGF_INSTANCE_CALLS(PTE_VGF_LOAD)
#undef PTE_VGF_LOAD
  if (complete) return PTE_OK;
  return pte_delegate_fail(error, "the Vulkan loader lacks functions of Vulkan 1.1: update it");
}

/* --- which device --------------------------------------------------------------------------- */

static bool has_extensions(const pte_vgf_device *v, VkPhysicalDevice device) {
  uint32_t count = MAX_EXTENSIONS, present = 0;
  VkExtensionProperties *found = calloc(MAX_EXTENSIONS, sizeof *found);
  if (found == NULL || v->vkEnumerateDeviceExtensionProperties(device, NULL, &count, found) < 0)
    count = 0;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < 2; k++)
      if (strcmp(found[i].extensionName, extensions[k]) == 0) present |= 1u << k;
  free(found);
  return present == 3;
}

/* Whether the family's queues run SPIR-V graphs of TOSA 1.0. */
static bool runs_tosa(const pte_vgf_device *v, VkPhysicalDevice device, uint32_t family) {
  PFN_vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM query =
      (PFN_vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM)v->vkGetInstanceProcAddr(
          v->instance, "vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM");
  VkQueueFamilyDataGraphPropertiesARM sets[MAX_SETS];
  uint32_t count = MAX_SETS;
  if (query == NULL) return false;
  for (uint32_t i = 0; i < count; i++)
    sets[i] = (VkQueueFamilyDataGraphPropertiesARM){
        .sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_DATA_GRAPH_PROPERTIES_ARM};
  if (query(device, family, &count, sets) < 0) return false;
  for (uint32_t i = 0; i < count && i < MAX_SETS; i++)
    if (sets[i].operation.operationType == 0 &&
        strncmp(sets[i].operation.name, "TOSA.001000.", 12) == 0)
      return true;
  return false;
}

static bool find_family(const pte_vgf_device *v, VkPhysicalDevice device, uint32_t *out) {
  VkQueueFamilyProperties families[MAX_FAMILIES];
  uint32_t count = MAX_FAMILIES;
  v->vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
  for (uint32_t i = 0; i < count; i++) {
    if ((families[i].queueFlags & VK_QUEUE_DATA_GRAPH_BIT_ARM) == 0) continue;
    if (!runs_tosa(v, device, i)) continue;
    *out = i;
    return true;
  }
  return false;
}

static bool find_device(pte_vgf_device *v) {
  VkPhysicalDevice devices[MAX_DEVICES];
  uint32_t count = MAX_DEVICES;
  if (v->vkEnumeratePhysicalDevices(v->instance, &count, devices) < 0) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!has_extensions(v, devices[i]) || !find_family(v, devices[i], &v->family)) continue;
    v->physical = devices[i];
    return true;
  }
  return false;
}

static pte_status choose_emulated(pte_vgf_device *v, pte_error *error) {
  bool is_offered = offer_layers(), is_there = has_layers(v);
  pte_status status = is_there ? create_instance(v, 2, error) : PTE_DELEGATE;
  if (is_offered) unsetenv("VK_LAYER_PATH");
  if (!is_there)
    return pte_delegate_fail(error, "no device has VK_ARM_data_graph, nor do layers: "
                                    "pip install ai-ml-emulation-layer-for-vulkan");
  if (status != PTE_OK) return status;
  if (find_device(v)) return PTE_OK;
  v->vkDestroyInstance(v->instance, NULL);
  return pte_delegate_fail(error, "no Vulkan device runs graphs of TOSA 1.0, not even emulated: "
                                  "apt install mesa-vulkan-drivers");
}

/* An instance, and a device of it that has the extensions: its own or the layers'. */
static pte_status choose(pte_vgf_device *v, pte_error *error) {
  pte_status status = create_instance(v, 0, error);
  if (status == PTE_OK && find_device(v)) return PTE_OK;
  if (status == PTE_OK) v->vkDestroyInstance(v->instance, NULL);
  return choose_emulated(v, error); /* layers alone can be why an instance works */
}

/* --- the device ----------------------------------------------------------------------------- */

static pte_status create_device(pte_vgf_device *v, pte_error *error) {
  VkPhysicalDeviceTensorFeaturesARM tensors = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TENSOR_FEATURES_ARM};
  VkPhysicalDeviceDataGraphFeaturesARM graphs = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DATA_GRAPH_FEATURES_ARM, .pNext = &tensors};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &graphs};
  v->vkGetPhysicalDeviceFeatures2(v->physical, &features);
  if (!tensors.tensors || !graphs.dataGraph || !graphs.dataGraphShaderModule)
    return pte_delegate_fail(error,
                             "the Vulkan device runs no graphs from SPIR-V: update its driver");
  /* What the capabilities of the SPIR-V ask for; a device that lacks one refuses to open. */
  VkPhysicalDeviceVulkan12Features types = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .shaderInt8 = VK_TRUE,
      .vulkanMemoryModel = VK_TRUE};
  VkPhysicalDeviceVulkan13Features core = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
      .pNext = &types,
      .synchronization2 = VK_TRUE,
      .maintenance4 = VK_TRUE};
  tensors = (VkPhysicalDeviceTensorFeaturesARM){.sType = tensors.sType,
                                                .pNext = &core,
                                                .shaderTensorAccess = tensors.shaderTensorAccess,
                                                .tensors = VK_TRUE};
  graphs = (VkPhysicalDeviceDataGraphFeaturesARM){.sType = graphs.sType,
                                                  .pNext = &tensors,
                                                  .dataGraph = VK_TRUE,
                                                  .dataGraphShaderModule = VK_TRUE};
  float priority = 1.0f;
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                   .queueFamilyIndex = v->family,
                                   .queueCount = 1,
                                   .pQueuePriorities = &priority};
  VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = &graphs,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue,
                             .enabledExtensionCount = 2,
                             .ppEnabledExtensionNames = extensions};
  VkResult result = v->vkCreateDevice(v->physical, &info, NULL, &v->device);
  if (result == VK_SUCCESS) return PTE_OK;
  return pte_delegate_fail(error, "vkCreateDevice: error %d", result);
}

static pte_status load_device(pte_vgf_device *v, pte_error *error) {
  const char *missing = NULL;
#define PTE_VGF_LOAD(name)                                                                         \
  v->name = (PFN_##name)v->vkGetDeviceProcAddr(v->device, #name);                                  \
  if (v->name == NULL) missing = #name;
  PTE_VGF_DEVICE_CALLS(PTE_VGF_LOAD)
#undef PTE_VGF_LOAD
  if (missing != NULL) {
    v->vkDestroyDevice(v->device, NULL); /* an instance must outlive its devices */
    return pte_delegate_fail(error, "the Vulkan device lacks %s", missing);
  }
  v->vkGetDeviceQueue(v->device, v->family, 0, &v->queue);
  v->vkGetPhysicalDeviceMemoryProperties(v->physical, &v->memory);
  return PTE_OK;
}

pte_status pte_vgf_device_open(pte_vgf_device *v, pte_error *error) {
  if (v->is_open) return PTE_OK;
  pte_status status = load(v, error);
  if (status == PTE_OK) status = choose(v, error);
  if (status != PTE_OK) return status;
  status = create_device(v, error);
  if (status == PTE_OK) status = load_device(v, error);
  if (status != PTE_OK) v->vkDestroyInstance(v->instance, NULL);
  v->is_open = status == PTE_OK;
  v->owner = getpid();
  return status;
}

bool pte_vgf_device_is_lost(const pte_vgf_device *v) { return v->is_open && v->owner != getpid(); }
